package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;

class NamingTest {
  @Shared(name = "naming.Named")
  static class Named {
    private int value;

    protected Named() {}

    public int next() {
      return ++value;
    }
  }

  /* As in the midst of a registration by another thread. */
  @Test
  void anotherGroupLearnsTheNumbersOfATypeWhoseClassAloneHasOne() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Dictionary dictionary = LocalService.of(stoa).catalog().dictionary();
      Naming naming = ObjectService.of(stoa, _ -> false).naming();
      String proxy = "proxy naming.Named";
      assertThrows(NotShareable.class, () -> naming.numberOfGroup(proxy));
      int number = dictionary.idOf("class naming.Named " + Named.class.getName());
      assertEquals(number, naming.numberOfGroup("class naming.Named " + Named.class.getName()));
      assertEquals(proxy, dictionary.nameOf(naming.numberOfGroup(proxy)));
      assertThrows(NotShareable.class, () -> naming.numberOfGroup("proxy naming.Other"));
    }
  }
}
