import type { PeerReply } from '../../contract/collaboration/replies.ts'

/** What peers share: the words on their blackboard, and the commit of their place. One version is one state of both. */
type SharedState = {
  /** 0 while nobody has written or changed anything. */
  readonly version: number
  readonly content: string
  readonly commit: string
  /** Whoever made this version. */
  readonly by: string | null
}

/** A collaboration of equals, as plain data. */
export type PeerRounds = {
  readonly members: readonly string[]
  readonly shared: SharedState
  /** The version that each member last agreed with. */
  readonly agreed: Readonly<Record<string, number>>
}

export const newPeerRounds = (members: readonly string[], commit: string): PeerRounds => ({
  members: [...new Set(members)],
  shared: { version: 0, content: '', commit, by: null },
  agreed: {},
})

/** What one member did when it had the place to itself. */
export type PeerTurn = {
  readonly by: string
  /** Nothing when it gave no answer that can be read. */
  readonly reply: Pick<PeerReply, 'board' | 'agrees'> | undefined
  /** The commit of the place afterwards. */
  readonly commit: string
  /** What it has put on the blackboard itself while it was at work. */
  readonly written?: { readonly version: number; readonly content: string } | undefined
}

/** What came of a turn, and what has to be written of it. */
export type AfterTurn = {
  readonly rounds: PeerRounds
  /** The version that it made; nothing when all is as it was. */
  readonly made?: SharedState
  /** It wrote over a version that it had not seen: nothing of that was taken. */
  readonly conflict?: { readonly seen: number; readonly content: string }
}

/**
 * A turn, as far as it counts. Whatever changes the words or the files makes another version, and nobody agrees with
 * that one yet but its author; a stale write changes nothing, and is no agreement.
 */
export function takeTurn(rounds: PeerRounds, { by, reply, commit, written }: PeerTurn): AfterTurn {
  if (!rounds.members.includes(by)) return { rounds }
  const before = rounds.shared
  const known =
    written && written.version > before.version
      ? { ...before, version: written.version, content: written.content, by }
      : before
  const { board } = reply ?? {}
  const conflict = board && board.version !== known.version ? board : undefined
  const content = board && !conflict ? board.content : known.content
  const isChanged = content !== known.content || commit !== known.commit
  const shared = isChanged ? { version: known.version + 1, content, commit, by } : known
  const { [by]: said, ...others } = rounds.agreed
  const agrees = reply?.agrees === true && !conflict && shared.version > 0
  const own = agrees ? shared.version : reply ? undefined : said
  return {
    rounds: { ...rounds, shared, agreed: own === undefined ? others : { ...others, [by]: own } },
    ...(isChanged && { made: shared }),
    ...(conflict && { conflict: { seen: conflict.version, content: conflict.content } }),
  }
}

/** Members that do not agree with the state as it is now; nobody can agree with nothing. */
export const dissenters = ({ members, agreed, shared }: PeerRounds): string[] =>
  members.filter((id) => shared.version === 0 || agreed[id] !== shared.version)

export const isAgreed = (rounds: PeerRounds): boolean =>
  rounds.members.length > 0 && dissenters(rounds).length === 0

type RoundEnd = {
  /** The round that has just ended, from 1. */
  readonly round: number
  readonly maxRounds: number
  /** How many of its members gave an answer. */
  readonly heard: number
}

/** What follows a round: the limit of the rounds is a limit, and never an agreement. */
export function afterPeerRound(
  rounds: PeerRounds,
  { round, maxRounds, heard }: RoundEnd,
): 'agreed' | 'another' | 'limit' | 'silent' {
  if (isAgreed(rounds)) return 'agreed'
  if (heard === 0) return 'silent'
  return round < maxRounds ? 'another' : 'limit'
}

/** How peers stand to the state as it is, in a sentence. */
export function agreementWords(rounds: PeerRounds): string {
  const { members, shared } = rounds
  if (shared.version === 0) return 'nothing was written or changed'
  const against = dissenters(rounds)
  const version = `version ${shared.version}`
  if (against.length === 0) return `${members.join(' and ')} agree with ${version}`
  const agree = members.filter((id) => !against.includes(id))
  const rest = `${against.join(' and ')} ${against.length === 1 ? 'does' : 'do'} not`
  return agree.length === 0
    ? `nobody agrees with ${version}`
    : `${agree.join(' and ')} ${agree.length === 1 ? 'agrees' : 'agree'} with ${version}, ${rest}`
}
