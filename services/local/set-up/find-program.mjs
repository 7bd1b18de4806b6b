import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The full path of the first of these programs that is on the PATH, or null. */
export function findProgram(names, path = process.env.PATH ?? '') {
  for (const name of names) {
    for (const folder of path.split(delimiter)) {
      const file = join(folder || '.', name);
      if (isProgram(file)) return file;
    }
  }
  return null;
}

/** Whether this file can be run. */
export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
