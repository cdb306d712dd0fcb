package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinksTest {
  @TempDir Path folder;

  @Test
  void followsLinksToFilesFoldersAndHeadings() throws IOException {
    Samples.write(folder.resolve("docs/b.md"), "# B\n\n## The path of a call\n[up](../a.md#a)\n");
    assertEquals(
        List.of(),
        problems(
            """
            # A
            [b](docs/b.md), [docs](docs), [call](docs/b.md#the-path-of-a-call), [self](#a),
            [web](https://example.org/x.md) and [ref]
            `[code](gone.md)`
            ```
            [fenced](gone.md)
            ```
            [ref]: docs/b.md
            """));
  }

  @Test
  void findsAFileThatIsNotThere() throws IOException {
    assertEquals(
        List.of("a.md links to docs/gone.md, which is not there"), problems("[x](docs/gone.md)"));
    assertEquals(List.of("a.md links to gone.md, which is not there"), problems("[x]: gone.md"));
  }

  @Test
  void findsAHeadingThatIsNotThere() throws IOException {
    assertEquals(List.of("a.md links to #b, which is not there"), problems("# A\n[x](#b)"));
  }

  @Test
  void findsALinkOutOfTheRepository() throws IOException {
    assertEquals(List.of("a.md links to ../b.md, which is not there"), problems("[x](../b.md)"));
  }

  @Test
  void findsAMentionInASource() throws IOException {
    Samples.write(folder.resolve("src/A.java"), "// see docs/gone.md.\n");
    assertEquals(List.of("src/A.java mentions docs/gone.md, which is not there"), problems("# A"));
  }

  @Test
  void findsAPageThatNoOtherLeadsTo() throws IOException {
    Samples.write(folder.resolve("docs/b.md"), "# B\n[itself](b.md#b)\n");
    assertEquals(List.of("no page links to docs/b.md"), problems("# A"));
    assertEquals(List.of(), problems("# A\n[b](docs/b.md)"));
  }

  @Test
  void namesHeadingsAsTheirReadersDo() {
    assertEquals(
        Set.of("what-it-is", "what-it-is-1", "stoa-bench-a-table", "a-link"),
        Links.anchors("# What it is?\n## What it is\n### `stoa bench`: a table\n## A [link](x)\n"));
  }

  private List<String> problems(String page) throws IOException {
    Samples.write(folder.resolve("a.md"), page);
    return Links.problems(new Repository(folder));
  }
}
