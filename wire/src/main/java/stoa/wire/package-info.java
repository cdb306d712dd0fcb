/// What a client and a server say to each other: the protocol buffers of `stoa.proto`, the limits
/// of frames, failures as messages, and the security of a connection. `docs/wire.md` describes the
/// protocol.
package stoa.wire;
