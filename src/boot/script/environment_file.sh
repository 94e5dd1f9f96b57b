
# --- Environment -----------------------------------------------------------------------------------------------------
# A .pth line is run by every Python of this environment as it starts: the kernel after its restart, and its children. The first
# one sets the variables; children that inherit them may override them.
begin environment "variables for the kernel"
