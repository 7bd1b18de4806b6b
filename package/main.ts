import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { pack } from './pack.ts';
import { stageCreate } from './stage-create.ts';
import { stageFleet } from './stage-fleet.ts';

// `npm run package`: stages the packages in dist/ and packs them.
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const staged = await stageFleet(root, join(dist, 'muster-fleet'));
process.stdout.write(`${pack(staged, dist)}\n`);
process.stdout.write(`${pack(stageCreate(root, join(dist, 'create-muster-fleet')), dist)}\n`);
