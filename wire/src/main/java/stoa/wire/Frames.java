package stoa.wire;

/// The limits of what a client and a server send to each other, and the version of what they say.
public final class Frames {
  /// The version of the protocol.
  public static final int PROTOCOL = 1;

  /// The most bytes of one frame.
  public static final int BYTES_MAX = 8 << 20;

  /// How many bytes a frame gathers before the next one is begun. One request or answer may be
  /// larger by itself, up to [#BYTES_MAX].
  public static final int BYTES_AIM = 1 << 20;

  /// The most requests or answers in one frame.
  public static final int PARTS_MAX = 4096;

  /// The most bytes of the headers of a connection.
  public static final int HEADER_BYTES_MAX = 8 << 10;

  private Frames() {}
}
