/// Streams over a shared log: tokens, epochs, and the port through which a batch becomes durable.
package stoa.log;
