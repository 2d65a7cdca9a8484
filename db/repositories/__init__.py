"""Named queries. A repository receives the session, never commits and gives rows; services turn them into views."""
