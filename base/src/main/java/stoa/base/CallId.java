package stoa.base;

/// The permanent name of a client's call of a server. The log has it with the put or deletion of
/// the call, so that a client that repeats the call gets the answer, and the store does not execute
/// the call twice (CRESON, section III-D).
///
/// @param session the client's session, a positive number
/// @param sequence its number among the session's requests, from 1
public record CallId(long session, long sequence) {}
