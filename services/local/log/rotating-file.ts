import { closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

interface RotatingFile {
  write(line: string): void;
  close(): void;
}

/** A log file of bounded size. A line is written before the call returns, because the last lines before a crash matter most. */
export function openRotatingFile(file: string, rotation: Rotation): RotatingFile {
  rotateFile(file, rotation);
  let fd = openSync(file, 'a', 0o600);
  let bytes = fstatSync(fd).size;
  return {
    write(line) {
      bytes += writeSync(fd, line);
      if (bytes < rotation.maxBytes) return;
      closeSync(fd);
      rotateFile(file, rotation);
      fd = openSync(file, 'a', 0o600);
      bytes = 0;
    },
    close: () => closeSync(fd),
  };
}

export interface Rotation {
  /** A file of this size is rotated. */
  maxBytes: number;
  /** How many old files are kept; `<file>.1` is the newest. */
  keep: number;
}

/** Rotates a log file that is too large. Returns whether it did. */
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
