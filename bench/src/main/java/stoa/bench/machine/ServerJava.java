package stoa.bench.machine;

import java.util.List;

/// The start of servers that run on Java.
public final class ServerJava {
  /// The options of Java: the same heap for all.
  public static final List<String> HEAP = List.of("-Xms1g", "-Xmx1g");

  private ServerJava() {}
}
