package stoa.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.programs.ChildProcess;
import stoa.stacksync.replay.Dispatch;

/// A service instance in a process of its own, which is begun again whenever it is killed.
///
/// Thread-safe. A thread of its own reads what the process answers.
final class InstanceProcess implements AutoCloseable {
  private final Dispatch dispatch;
  private final int number;
  private final List<String> arguments;
  private final Thread reader;
  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by lock from here.
  private @Nullable ChildProcess child;
  private boolean killing;
  private boolean ending;

  private InstanceProcess(Dispatch dispatch, int number, String url, Replayed scenario) {
    this.dispatch = dispatch;
    this.number = number;
    this.arguments = new ArrayList<>(List.of("instance", "--url", url, "--name", name(number)));
    this.arguments.addAll(scenario.arguments());
    this.reader = Thread.ofPlatform().name(name(number)).unstarted(this::keepRunning);
  }

  /// Starts one.
  ///
  /// @param dispatch gives it orders, and hears when it fails
  /// @param number of its place there
  /// @param url of the server
  static InstanceProcess start(Dispatch dispatch, int number, String url, Replayed scenario) {
    var instance = new InstanceProcess(dispatch, number, url, scenario);
    instance.reader.start();
    return instance;
  }

  private static String name(int number) {
    return "instance-" + number;
  }

  /// Kills the process at once; on return the next one of this name is starting, or soon will be.
  void kill() {
    lock.lock();
    try {
      if (child == null) return;
      killing = true;
      child.kill();
    } finally {
      lock.unlock();
    }
  }

  /// Lets the process end, as there are no more orders, and waits for it.
  void end() throws InterruptedException {
    lock.lock();
    try {
      ending = true;
      if (child != null) child.endInput();
    } finally {
      lock.unlock();
    }
    reader.join();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      ending = true;
      if (child != null) child.close();
    } finally {
      lock.unlock();
    }
  }

  private void keepRunning() {
    try {
      while (runOnce()) {}
    } catch (IOException | InterruptedException | RuntimeException e) {
      dispatch.fail(e);
    }
  }

  /// Runs a process until it ends.
  ///
  /// @return whether it was killed, and another one is needed
  private boolean runOnce() throws IOException, InterruptedException {
    try (var process = ChildProcess.java(Main.class.getName(), arguments)) {
      began(process);
      for (var line = process.line(); line.isPresent(); line = process.line()) {
        if (line.get().equals(InstanceCommand.READY)) dispatch.join(number, process::write);
        else dispatch.answer(number, line.get());
      }
      dispatch.leave(number);
      return wasKilled(process.await());
    }
  }

  private void began(ChildProcess process) {
    lock.lock();
    try {
      child = process;
      if (ending) process.endInput();
    } finally {
      lock.unlock();
    }
  }

  private boolean wasKilled(int code) {
    lock.lock();
    try {
      child = null;
      if (ending) return false;
      if (code == ChildProcess.KILLED && killing) {
        killing = false;
        return true;
      }
      throw new IllegalStateException(
          name(number) + " ended by itself with " + code + "; what it said stands above");
    } finally {
      lock.unlock();
    }
  }
}
