//! Requester in hardware: what a queue pair sends, and what answers and time change (`docs/requester.md`).
