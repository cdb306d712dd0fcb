/// Streams over a shared log: tokens, epochs, and the port through which a batch becomes durable.
///
/// A stream is released from its beginning, and so is what the log tells of its addresses: both for
/// good, see [Streams#trim][stoa.log.Streams#trim]. A log address then is one of three things:
/// released; written, be it a hole; or not yet written.
package stoa.log;
