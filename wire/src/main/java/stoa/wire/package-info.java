/// The protocol of clients and servers: the protocol buffers of `stoa.proto`, the limits of frames,
/// failures as messages, and the security of a connection. `docs/wire.md` describes it.
package stoa.wire;
