"""Letters: e-mail and Outlook messages. `letter` shows both alike; `mime` and what follows take an e-mail apart."""
