/// A server and its clients, beside other servers of shared state.
package stoa.bench.remote;
