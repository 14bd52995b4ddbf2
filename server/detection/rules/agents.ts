import { AUTOMATION_MARKS } from '../../../contract/beacon';

/** The agents that show themselves by elements with these ids. */
const AGENTS: Partial<Record<(typeof AUTOMATION_MARKS)[number][1], string>> = {
  'claude-agent-glow-border': 'claude',
  'claude-agent-stop-container': 'claude',
  'claude-phantom-cursor': 'claude',
};

/** Finds the agent to which a mark belongs. Null: the mark names none. */
export function findAgentName(mark: number): string | null {
  const name = AUTOMATION_MARKS[mark]?.[1];
  return (name && AGENTS[name]) ?? null;
}
