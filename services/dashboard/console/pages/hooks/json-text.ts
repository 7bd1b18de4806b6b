/** What a person wrote as JSON, or what is wrong with it. */
export function readJsonText(text: string): { value: unknown; problem: string | null } {
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (error) {
    return { value: null, problem: error instanceof Error ? error.message : String(error) };
  }
}
