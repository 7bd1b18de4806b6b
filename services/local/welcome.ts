import { relative } from 'node:path';
import { localRecordFile } from './local-record.ts';

export interface WelcomeOptions {
  /** Where the fleet is reached, without a slash at the end. */
  url: string;
  /** The data directory, absolute. */
  directory: string;
  /** Where relative paths in the commands start from. */
  cwd: string;
  /** `MUSTER_DATA_DIR` as it was set; null where the commands look by themselves. */
  chosenDirectory: string | null;
  /** The admin key when it was generated just now. */
  newKey: string | null;
  /** Where the key is from otherwise. */
  keyOrigin: 'environment' | 'file' | 'unknown';
}

/** What a person sees once the fleet is up: where it is, the key, and three commands that work as they stand. */
export function welcome(options: WelcomeOptions): string {
  const { url, chosenDirectory } = options;
  // In another terminal nothing else would tell them which fleet is meant.
  const muster = chosenDirectory === null ? 'npx muster' : `MUSTER_DATA_DIR=${forShell(chosenDirectory)} npx muster`;
  const file = relative(options.cwd, localRecordFile(options.directory));
  const from = file.startsWith('.') || file.startsWith('/') ? file : `./${file}`;
  return [
    '',
    'Muster is up.',
    '',
    `  Console   ${url}/`,
    `  Board     ${url}/board`,
    `  API       ${url}/v1`,
    `  API docs  ${url}/docs`,
    `  Key       ${keyLine(options, from)}`,
    '',
    'Try, in another terminal:',
    '',
    `  ${muster} send "Hello from the fleet"`,
    `  curl -s "${url}/v1/tasks?waitMs=10000" -H "Authorization: Bearer ${keyForCurl(options, from)}" -H "Content-Type: application/json" -d '{"agent":"echo","input":"Hello from curl"}'`,
    `  ${muster} tasks`,
    '',
    'Ctrl-C lets running work end and stops; a second Ctrl-C stops at once.',
    '',
  ].join('\n');
}

function keyLine({ newKey, keyOrigin }: WelcomeOptions, from: string): string {
  if (newKey !== null) return `${newKey}   (shown this once; kept for the commands of this machine in ${from})`;
  if (keyOrigin === 'environment') return 'the one in MUSTER_ADMIN_KEY';
  if (keyOrigin === 'file') return `printed on the first start, kept in ${from} (lost? start once with MUSTER_ADMIN_KEY set to a new one)`;
  return 'printed on the first start (lost? start once with MUSTER_ADMIN_KEY set to a new one)';
}

/** A key that was shown before is read from its file when the command runs, so that it is not on the screen again. */
function keyForCurl({ newKey, keyOrigin }: WelcomeOptions, from: string): string {
  if (newKey !== null) return newKey;
  return keyOrigin === 'unknown' ? '<your key>' : `$(node -p "JSON.parse(fs.readFileSync('${from}')).key")`;
}

function forShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
