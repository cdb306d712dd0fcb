/// The server of a store: sessions of clients, their containers, exactly-once calls, answers and
/// events.
package stoa.node;
