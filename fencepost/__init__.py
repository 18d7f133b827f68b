"""What people touch: command line, HTTP application, web pages and the local stack."""
