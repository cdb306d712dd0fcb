/// The server of a store: sessions of clients, their containers, exactly-once calls, and what is
/// sent back.
package stoa.node;
