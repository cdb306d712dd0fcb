package stoa.base;

/// Whether Netty, which gRPC and Ratis bring along under names of their own, may load native code.
///
/// The JVM warns of native code, and a later one refuses it, unless the program's command allows it
/// by `--enable-native-access`. Netty runs on the JDK's sockets and TLS as well.
public final class NativeCode {
  private NativeCode() {}

  /// Has gRPC's Netty do without native code where the JVM would warn of it. To be called before
  /// the first use of Netty; what comes later changes nothing, nor do options that the program has
  /// set.
  ///
  /// @param user a class of the module of Netty
  public static void unlessAllowed(Class<?> user) {
    unlessAllowed(user, "io.grpc.netty.shaded.");
  }

  /// Has the Netty of another library do so.
  ///
  /// @param prefix what stands before `io.netty` in the names of its classes
  public static void unlessAllowed(Class<?> user, String prefix) {
    if (user.getModule().isNativeAccessEnabled()) return;
    without(prefix + "io.netty.transport.noNative");
    without(prefix + "io.netty.handler.ssl.noOpenSsl");
  }

  private static void without(String option) {
    if (System.getProperty(option) == null) System.setProperty(option, "true");
  }
}
