/** Writes a line of a bench's table. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}
