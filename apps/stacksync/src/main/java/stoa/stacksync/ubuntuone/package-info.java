/// Traces of Ubuntu One, the personal cloud with whose load the AOF and CRESON papers measure
/// StackSync: reads the provider's log and the reduced form of it, makes traces with the same skew,
/// and turns them into requests of the service. The published trace itself is not part of this
/// repository.
package stoa.stacksync.ubuntuone;
