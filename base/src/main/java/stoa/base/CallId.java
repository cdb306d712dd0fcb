package stoa.base;

/// Names a call that a client made of a server, for ever: it is logged with the put or deletion
/// that the call became, so that a client that asks again is answered and the call is not executed
/// twice (CRESON, section III-D).
///
/// @param session the client's session, a positive number
/// @param sequence which of the session's requests it is, from 1
public record CallId(long session, long sequence) {}
