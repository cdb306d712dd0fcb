package stoa.cluster;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// One thing that brings the groups nearer to where they should be. To do it twice does no harm.
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

  /// A server is a member of a group no more.
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

  /// A server deletes what it has of a group that it is no member of.
  record Release(String server, int group) implements Step {
    @Override
    public String toString() {
      return server + " deletes its replica of group " + group;
    }
  }

  /// A server that has nothing any more is none of the store's servers from now on.
  record Dismiss(String server) implements Step {
    @Override
    public String toString() {
      return server + " goes";
    }
  }

  /// The server that gets, gives or goes.
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

  /// What [#write] wrote.
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
