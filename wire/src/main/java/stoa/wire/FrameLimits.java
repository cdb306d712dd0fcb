package stoa.wire;

/// The limits of frames between a client and a server, and the version of the protocol.
public final class FrameLimits {
  /// The version of the protocol.
  public static final int PROTOCOL = 1;

  /// The beginning of the reason with which a server refuses connections after its store has
  /// failed. The failure follows.
  public static final String FAILED = "the store of the server has failed, and the server ends";

  /// The most bytes of one frame.
  public static final int BYTES_MAX = 8 << 20;

  /// The most bytes that a frame gathers before the next one begins. One request or answer may be
  /// larger by itself, up to [#BYTES_MAX].
  public static final int BYTES_AIM = 1 << 20;

  /// The most bytes that the first frame of a connection gathers. So a part of the waiting bytes
  /// arrives even where connections break before all of them do.
  public static final int BYTES_FIRST = 4 << 10;

  /// The most requests or answers in one frame.
  public static final int PARTS_MAX = 4096;

  private FrameLimits() {}

  /// Returns how many bytes the next frame may gather when more waits: twice as many as the last
  /// one, up to [#BYTES_AIM].
  ///
  /// @param before how many bytes the last one gathered
  public static int growing(int before) {
    return Math.min(2 * before, BYTES_AIM);
  }
}
