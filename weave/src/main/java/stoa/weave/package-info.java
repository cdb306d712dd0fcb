/// Inserts checks into users' classes, by which a run of their code can be stopped; see
/// [stoa.spi.Cancellation].
package stoa.weave;
