package stoa.node;

import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;

/// A TLS context that another one can replace: later connections use that. Thread-safe.
final class LiveTls extends SslContext {
  private volatile SslContext now;

  LiveTls(SslContext first) {
    now = first;
  }

  /// Has later connections use another context.
  void become(SslContext next) {
    now = next;
  }

  @Override
  public boolean isClient() {
    return now.isClient();
  }

  @Override
  public List<String> cipherSuites() {
    return now.cipherSuites();
  }

  @Override
  @SuppressWarnings("deprecation") // gRPC asks for it
  public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
    return now.applicationProtocolNegotiator();
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator) {
    return now.newEngine(allocator);
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator, String host, int port) {
    return now.newEngine(allocator, host, port);
  }

  @Override
  public SSLSessionContext sessionContext() {
    return now.sessionContext();
  }
}
