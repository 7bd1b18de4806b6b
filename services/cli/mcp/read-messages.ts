const NEWLINE = 0x0a;

/** The lines of a stream, without those that have nothing. Of a line with more than `maxBytes` only that there was one is known: null. */
export async function* readMessages(input: NodeJS.ReadableStream, maxBytes: number): AsyncGenerator<string | null> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const keep = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  };
  const take = (): string | null => {
    const line = bytes > maxBytes ? null : Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of input) {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      keep(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const line = take();
      if (line !== '') yield line;
    }
    keep(rest);
  }
  const last = take();
  if (last !== '') yield last;
}
