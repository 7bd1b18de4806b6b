import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { rotateFile, type Rotation } from './rotate-file.ts';

export interface RotatingFile {
  write(line: string): void;
  close(): void;
}

/**
 * A log file that never outgrows its bound, however long the process runs. Lines are written before the call returns:
 * the last ones before a crash are those that matter.
 */
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
