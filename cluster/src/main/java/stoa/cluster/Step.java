package stoa.cluster;

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
}
