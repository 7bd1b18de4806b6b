/** What every page receives. */
export interface PageProps {
  /** The parts of the address that its path names, decoded. */
  readonly params: Readonly<Record<string, string>>;
}
