"""Spreadsheets: how a cell is shown, and how much room a sheet takes before anybody makes that room."""
