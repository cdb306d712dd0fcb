package stoa.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/// The TLS of one connection. One thread at a time reads, and one at a time writes.
final class Secured {
  private final SSLEngine engine;
  private final ByteBuffer plainOut = ByteBuffer.allocate(Frames.FRAME_BYTES_MAX).flip();
  private @Nullable ByteBuffer plainRest; // of the thread that reads
  private volatile boolean ready;
  private boolean toldReady; // of the thread that writes
  private volatile boolean held;

  Secured(SSLEngine engine) {
    this.engine = engine;
  }

  void begin() throws SSLException {
    engine.beginHandshake();
  }

  /// Returns what the other end has shown; null for nothing.
  @Nullable X509Certificate certificate() {
    try {
      var shown = engine.getSession().getPeerCertificates();
      return shown.length > 0 && shown[0] instanceof X509Certificate first ? first : null;
    } catch (SSLPeerUnverifiedException none) {
      return null;
    }
  }

  /// Decrypts the bytes that have come. The rest in the buffer is the beginning of a record.
  ///
  /// @param plain an empty buffer
  /// @param made called before the first decrypted byte
  /// @return whether there is something to write
  /// @throws IOException when the other end proves nothing, or ends
  boolean read(ByteBuffer in, ByteBuffer plain, Connection to, Runnable made) throws IOException {
    ByteBuffer before = plainRest;
    if (before != null) plain.put(before);
    plainRest = null;
    boolean writes = false;
    while (true) {
      SSLEngineResult result = engine.unwrap(in, plain);
      HandshakeStatus next = result.getHandshakeStatus();
      // The other end encrypts for this end only after its proof.
      if (next == HandshakeStatus.FINISHED || result.bytesProduced() > 0) ready = true;
      if (next == HandshakeStatus.NEED_TASK) next = runTasks();
      writes |= next == HandshakeStatus.NEED_WRAP;
      if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
        throw new IOException("the other end has closed it");
      }
      if (ready) made.run();
      if (plain.position() > 0) {
        plain.flip();
        to.received(plain);
        plain.compact();
      }
      if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) break;
      if (next == HandshakeStatus.NEED_WRAP && result.bytesConsumed() == 0) {
        held = true; // it reads on when the writing thread has looked
        break;
      }
      if (!in.hasRemaining() && next != HandshakeStatus.NEED_UNWRAP_AGAIN) break;
    }
    plain.flip();
    if (plain.hasRemaining()) plainRest = SocketWire.kept(plain);
    return writes;
  }

  /// Encrypts what a connection says.
  ///
  /// @param out empty
  /// @return whether it has written something
  boolean write(Connection from, ByteBuffer out) throws IOException {
    int packet = engine.getSession().getPacketBufferSize();
    while (out.remaining() >= packet) {
      HandshakeStatus status = engine.getHandshakeStatus();
      if (status == HandshakeStatus.NEED_TASK) status = runTasks();
      if (status == HandshakeStatus.NEED_UNWRAP) break;
      if (!plainOut.hasRemaining()) {
        plainOut.clear();
        from.fill(plainOut);
        plainOut.flip();
      }
      if (!plainOut.hasRemaining() && status != HandshakeStatus.NEED_WRAP) break;
      SSLEngineResult result = engine.wrap(plainOut, out);
      if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) ready = true;
      if (result.getStatus() == SSLEngineResult.Status.CLOSED) break;
      if (result.bytesProduced() == 0 && result.bytesConsumed() == 0) break;
    }
    return out.position() > 0;
  }

  private HandshakeStatus runTasks() {
    Runnable task;
    while ((task = engine.getDelegatedTask()) != null) task.run();
    return engine.getHandshakeStatus();
  }

  /// Returns once whether the handshake has ended with what was written.
  boolean takeReady() {
    if (!ready || toldReady) return false;
    toldReady = true;
    return true;
  }

  /// Returns once whether what has come waits until what there was to write is written. The thread
  /// that writes asks when it has written that, or has found that there is none: another turn may
  /// have written it before this was said.
  boolean takeHeld() {
    if (!held) return false;
    held = false;
    return true;
  }

  /// Returns whether everything is encrypted. Called by the thread that writes.
  boolean isDone() {
    return !plainOut.hasRemaining();
  }
}
