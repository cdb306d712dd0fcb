package stoa.tickets;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/// The application. Any number of its instances may use one store.
@SpringBootApplication(proxyBeanMethods = false)
@EnableScheduling
public class TicketsApplication {
  /// For Spring.
  public TicketsApplication() {}

  /// Starts it.
  public static void main(String[] arguments) {
    SpringApplication.run(TicketsApplication.class, arguments);
  }
}
