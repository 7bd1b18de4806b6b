import { existsSync, renameSync, rmSync, statSync } from 'node:fs';

export interface Rotation {
  /** A file of this size is put aside. */
  maxBytes: number;
  /** How many old ones are kept: `<file>.1` is the newest. */
  keep: number;
}

/** Puts a log file aside when it is too large. Returns whether it did. */
export function rotateFile(file: string, { maxBytes, keep }: Rotation): boolean {
  if (!existsSync(file) || statSync(file).size < maxBytes) return false;
  rmSync(`${file}.${keep}`, { force: true });
  for (let number = keep - 1; number >= 1; number -= 1) {
    if (existsSync(`${file}.${number}`)) renameSync(`${file}.${number}`, `${file}.${number + 1}`);
  }
  if (keep > 0) renameSync(file, `${file}.1`);
  else rmSync(file);
  return true;
}
