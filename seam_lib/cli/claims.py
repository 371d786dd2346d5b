"""Commands about the paper's numbers: the ledger, and one claim in full."""

import typer


def register(app: typer.Typer) -> None:
    """Add this module's commands to the app."""
    claims = typer.Typer(
        invoke_without_command=True,
        help="Recompute every number of the paper; write paper/claims.csv and paper/claims.md.",
    )
    claims.callback()(ledger)
    claims.command()(show)
    app.add_typer(claims, name="claims")


def ledger(context: typer.Context) -> None:
    """Recompute every number of the paper; write paper/claims.csv and paper/claims.md.

    Prints how many claims are reproduced, differ, are consistent with printed totals, or need data
    that are not public, and every claim that differs. `seam claims show ID` shows one in full.
    """
    if context.invoked_subcommand:
        return
    from collections import Counter

    from seam_lib.claims import recompute_all, write_claims
    from seam_lib.core.params import find_root

    root = find_root()
    lines, numbers = recompute_all(root)
    write_claims(root, lines, numbers)
    counts = Counter(line.status for line in lines)
    typer.echo(f"{len(lines)} claims: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items())))
    for line in lines:
        if line.status == "differs":
            typer.echo(f"differs  {line.claim.id}  {line.claim.statement}")
    typer.echo("paper/claims.md says why; `seam claims show ID` follows one down to its cases.")


def show(
    claim: str = typer.Argument(
        help="The claim's id, as in paper/claims.csv, such as table3.lever."
    ),
    every_case: bool = typer.Option(False, "--all", help="List every cluster it rests on."),
) -> None:
    """Show one claim: printed and computed value, the calculation, its rows and its cases."""
    from seam_lib.claims import describe, find_outcome
    from seam_lib.core.params import find_root

    typer.echo(describe(*find_outcome(find_root(), claim), every_case))
