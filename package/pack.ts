import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Packs a staged package. Returns the file, `<folder>/<name>-<version>.tgz`. */
export function pack(staged: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const name = execFileSync('npm', args, { cwd: staged, encoding: 'utf8' }).trim();
  return join(folder, name);
}
