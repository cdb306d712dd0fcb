package stoa;

import java.util.Objects;

/// How a client of a server takes part in the tree of processes among which objects migrate that
/// are placed at clients (self-service, section 3). It joins when it first calls such an object.
/// Means nothing for a store in this process, which is the root.
public sealed interface Membership {
  /// It connects to others, and nobody to it.
  record Leaf() implements Membership {}

  /// Others may connect to it, so that objects pass between them without the server. They show
  /// tickets that the server gives them; what is said is not encrypted.
  ///
  /// @param host the address to listen on, by which others reach it
  /// @param port 0 for any
  record Inner(String host, int port) implements Membership {
    public Inner {
      Objects.requireNonNull(host, "host");
    }
  }

  /// It stays outside: its calls on such objects execute at the server, and are durable before they
  /// are answered.
  record Outside() implements Membership {}

  /// The usual one.
  static Membership leaf() {
    return new Leaf();
  }

  /// Of a process that those of this machine may connect to.
  static Membership inner() {
    return new Inner("127.0.0.1", 0);
  }
}
