package stoa.cluster;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// One action that brings the groups nearer to their places. Repeating it does no harm.
sealed interface Step {
  /// A server opens a replica of a group, and waits to be added.
  record Host(String server, int group) implements Step {
    @Override
    public String toString() {
      return server + " prepares for group " + group;
    }
  }

  /// A server that hosts a group becomes a member of it, once it has what the others have.
  record Add(String server, int group) implements Step {
    @Override
    public String toString() {
      return server + " joins group " + group;
    }
  }

  /// A server leaves a group.
  record Remove(String server, int group) implements Step {
    @Override
    public String toString() {
      return server + " leaves group " + group;
    }
  }

  /// A member leads a group from now on.
  record Transfer(String server, int group) implements Step {
    @Override
    public String toString() {
      return server + " takes over group " + group;
    }
  }

  /// A server deletes its replica of a group of which it is no member.
  record Release(String server, int group) implements Step {
    @Override
    public String toString() {
      return server + " deletes its replica of group " + group;
    }
  }

  /// A server without any replica leaves the list of servers.
  record Dismiss(String server) implements Step {
    @Override
    public String toString() {
      return server + " goes";
    }
  }

  /// Returns the server that gains, gives or leaves.
  String server();

  default void write(Encoder out) {
    switch (this) {
      case Host(String server, int group) -> out.u8(1).text(server).varint(group);
      case Add(String server, int group) -> out.u8(2).text(server).varint(group);
      case Remove(String server, int group) -> out.u8(3).text(server).varint(group);
      case Transfer(String server, int group) -> out.u8(4).text(server).varint(group);
      case Release(String server, int group) -> out.u8(5).text(server).varint(group);
      case Dismiss(String server) -> out.u8(6).text(server);
    }
  }

  /// Reads what [#write] wrote.
  ///
  /// @throws IllegalArgumentException when it is something else
  static Step read(Decoder in) {
    int kind = in.u8();
    String server = in.text();
    return switch (kind) {
      case 1 -> new Host(server, (int) in.varint());
      case 2 -> new Add(server, (int) in.varint());
      case 3 -> new Remove(server, (int) in.varint());
      case 4 -> new Transfer(server, (int) in.varint());
      case 5 -> new Release(server, (int) in.varint());
      case 6 -> new Dismiss(server);
      default -> throw new IllegalArgumentException("a step of kind " + kind);
    };
  }
}
