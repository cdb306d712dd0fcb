package stoa.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.SimulatedDisk;

class GroupMachineTest {
  private static final DeviceConfig SMALL =
      new DeviceConfig(1 << 20, 64 << 10, 256 << 10, 256 << 10);

  @Test
  void whatFailsWhileItsNodeIsClosedThrowsNothingIntoRatis() {
    var background = Executors.newVirtualThreadPerTaskExecutor();
    background.shutdown();
    List<Throwable> told = new ArrayList<>();
    var roles =
        new Roles() {
          @Override
          public void leading(long term) {}

          @Override
          public void following() {}

          @Override
          public void leader(String leader) {}

          @Override
          public void caughtUp() {}

          @Override
          public void failed(Throwable cause) {
            told.add(cause);
          }
        };
    var failure = new IOException("no space");
    try (var replica = new Replica(Device.open(new SimulatedDisk(1), SMALL))) {
      var machine =
          new GroupMachine(
              replica,
              roles,
              Runnable::run,
              background,
              new GroupMachine.CatchUp() {
                @Override
                public Position from(Member leader) {
                  throw new AssertionError(leader);
                }

                @Override
                public void leave(@Nullable String leader) {}
              });
      machine.notifyLogFailed(failure, null);
      machine.notifyLogFailed(failure, null);
    }
    assertEquals(List.of(failure), told);
  }
}
