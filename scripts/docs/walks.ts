/** A path through the code, as docs/architecture.md describes it. */
export interface Walk {
  /** The command, without `psd2`. */
  command: string;
  /** The files to open, in order, relative to `src`. */
  files: string[];
}

/** The walks of the page. A walk is a numbered list of files under a heading that is a command. */
export function walksIn(markdown: string): Walk[] {
  return markdown.split(/^#+ /m).flatMap((section) => {
    const [, command] = /^`([^`]+)`/.exec(section) ?? [];
    const files = [...section.matchAll(/^\d+\. `src\/([^`]+)`/gm)].map(([, file = '']) => file);
    return command === undefined || files.length === 0 ? [] : [{ command, files }];
  });
}
