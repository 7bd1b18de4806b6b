// What `muster init <folder>` and `create-muster-fleet <folder>` do with their arguments.
import { parseArgs } from 'node:util';
import { createProject, ProjectProblem } from './create-project.mjs';

/** Returns the exit code. `command`: as it was called, for the help. `fleet`: what the project asks npm for where nothing else is given. */
export function runInit(args, { command, release, fleet = `^${release}`, out, err }) {
  const usage = `Usage: ${command} <folder> [--fleet <version or packed file of muster-fleet>]\n`;
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { fleet: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    const [folder, ...more] = positionals;
    if (values.help) return print(out, usage, 0);
    if (folder === undefined || more.length > 0) return print(err, usage, 2);
    createProject(folder, { fleet: values.fleet ?? fleet, release });
    return print(out, `Made ${folder}. Next:\n\n  cd ${folder}\n  npm install\n  npm test\n  npm start\n`, 0);
  } catch (error) {
    if (!(error instanceof ProjectProblem) && !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
    return print(err, `${command}: ${error.message}\n`, 2);
  }
}

function print(stream, text, code) {
  stream.write(text);
  return code;
}
