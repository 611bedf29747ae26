import type { CrewMember, Duty } from '../../contract/crew.ts'
import type { CrewDefinition } from '../../contract/crew-definition.ts'

/** Something that a crew may not be, with the dotted path of the field that says it. */
export type CrewFault = { readonly path: string; readonly message: string }

/** The members of a crew with their duties. */
type Members = readonly Pick<CrewMember, 'id' | 'count' | 'duty'>[]

/** Lists what keeps the members of a crew from working together. */
export function crewRules({ pattern, approvePlan }: CrewDefinition, members: Members): CrewFault[] {
  const faults = [
    ...repeatedIds(members),
    ...(pattern === 'pipeline' ? crowds(members) : workFaults(members)),
  ]
  // Whoever wrote it counts on being asked, and would not be.
  if (approvePlan && !members.some(({ duty }) => duty === 'plan')) {
    const message = 'nobody makes a plan that could be approved; add an architect, or leave it out'
    faults.push({ path: 'approve_plan', message })
  }
  return faults
}

function repeatedIds(members: Members): CrewFault[] {
  return members.flatMap(({ id }, index) =>
    members.slice(0, index).some((other) => other.id === id)
      ? [{ path: `members.${index}.id`, message: `two members are called ${id}; give one another id` }]
      : [],
  )
}

function crowds(members: Members): CrewFault[] {
  const message = 'a place in a pipeline is one agent; leave count out'
  return members.flatMap(({ count }, index) =>
    count > 1 ? [{ path: `members.${index}.count`, message }] : [],
  )
}

function workFaults(members: Members): CrewFault[] {
  const places = (wanted: Duty) => [...members.entries()].filter(([, { duty }]) => duty === wanted)
  const [architect, ...more] = places('plan')
  const [challenger] = places('challenge')
  const faults = more.map(([index]) => ({
    path: `members.${index}.role`,
    message: 'a crew has one architect, who orchestrates; make this one a developer or a reviewer',
  }))
  if (architect && architect[1].count > 1)
    faults.push({
      path: `members.${architect[0]}.count`,
      message: 'a crew has one architect, who orchestrates; leave count out',
    })
  if (challenger && !architect)
    faults.push({
      path: `members.${challenger[0]}.role`,
      message: 'a challenger attacks a plan, and without an architect there is none; add an architect',
    })
  const isReviewOnly = members.every(({ duty }) => duty === 'review')
  if (places('work').length === 0 && !isReviewOnly)
    faults.push({ path: 'members', message: 'nobody does the work; add a member with the role developer' })
  return faults
}
