package stoa.bench.machine;

import java.util.List;

/// The start of servers that run on Java.
public final class ServerJava {
  /// The options of Java: the same heap for all.
  public static final List<String> HEAP = List.of("-Xms1g", "-Xmx1g");

  /// The options of Java for a server of much data: an eighth of the heap, 512 MB, is for the
  /// states of objects.
  public static final List<String> LARGE_HEAP = List.of("-Xms1g", "-Xmx4g");

  private ServerJava() {}
}
