package stoa.base;

/// Whether Netty, which gRPC brings along under names of its own, may load native code.
///
/// The JVM warns of native code, and a later one refuses it, unless the program's command allows it
/// by `--enable-native-access`. Netty runs on the JDK's sockets and TLS as well.
public final class NativeCode {
  private static final String NETTY = "io.grpc.netty.shaded.io.netty.";

  private NativeCode() {}

  /// Has gRPC's Netty do without native code where the JVM would warn of it. To be called before
  /// the first use of Netty; what comes later changes nothing, nor do options that the program has
  /// set.
  ///
  /// @param user a class of the module of Netty
  public static void unlessAllowed(Class<?> user) {
    if (user.getModule().isNativeAccessEnabled()) return;
    without("transport.noNative");
    without("handler.ssl.noOpenSsl");
  }

  private static void without(String option) {
    if (System.getProperty(NETTY + option) == null) System.setProperty(NETTY + option, "true");
  }
}
