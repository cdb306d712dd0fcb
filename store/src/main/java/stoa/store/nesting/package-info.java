/// Calls between keys: a handler calls keys of its own store (`Nesting`) and of others
/// (`CrossGroupCalls`), and other stores call keys here (`IncomingCalls`). `Resuming` completes the
/// calls that an earlier process has begun.
package stoa.store.nesting;
