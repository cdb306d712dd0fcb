/// Connections that carry many streams of messages between processes. A [stoa.transport.Connection]
/// decides and does no input or output: over sockets ([stoa.transport.Sockets]) and in a simulation
/// ([stoa.transport.SimulatedNetwork]) it is the same.
package stoa.transport;
