package stoa.wire;

/// The limits of what a client and a server send to each other, and the version of what they say.
public final class Frames {
  /// The version of the protocol.
  public static final int PROTOCOL = 1;

  /// How a server begins the reason for which it takes no connections any more: its store has
  /// failed, and what follows says with what.
  public static final String FAILED = "the store of the server has failed, and the server ends";

  /// The most bytes of one frame.
  public static final int BYTES_MAX = 8 << 20;

  /// How many bytes a frame gathers at most before the next one is begun. One request or answer may
  /// be larger by itself, up to [#BYTES_MAX].
  public static final int BYTES_AIM = 1 << 20;

  /// How many bytes the first frame of a connection gathers. A part of what waits arrives also
  /// where connections are cut before all of it does.
  public static final int BYTES_FIRST = 4 << 10;

  /// The most requests or answers in one frame.
  public static final int PARTS_MAX = 4096;

  /// The most bytes of the headers of a connection.
  public static final int HEADER_BYTES_MAX = 8 << 10;

  private Frames() {}

  /// How many bytes the next frame gathers when more waits: twice as many as the one before, up to
  /// [#BYTES_AIM].
  ///
  /// @param before how many bytes that one gathered
  public static int growing(int before) {
    return Math.min(2 * before, BYTES_AIM);
  }
}
