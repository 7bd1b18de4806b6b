import { createRequire } from 'node:module';

export interface GithubExample {
  /** As `X-GitHub-Event` has it. */
  event: string;
  /** The body. */
  text: string;
}

/** Every payload that GitHub's webhook documentation is made of. The package's types say something else than what it holds. */
export function readGithubExamples(): GithubExample[] {
  const definitions = createRequire(import.meta.url)('@octokit/webhooks-examples') as { name: string; examples: unknown[] }[];
  return definitions.flatMap(({ name, examples }) => examples.map((example) => ({ event: name, text: JSON.stringify(example) })));
}
